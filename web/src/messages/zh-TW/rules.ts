export default {
  title: '規章',
}
