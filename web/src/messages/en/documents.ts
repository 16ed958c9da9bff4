export default {
  title: 'Documents',
}
