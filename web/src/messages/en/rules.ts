export default {
  title: 'The rules',
}
