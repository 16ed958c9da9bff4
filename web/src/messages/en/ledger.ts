export default {
  title: 'What it costs',
}
