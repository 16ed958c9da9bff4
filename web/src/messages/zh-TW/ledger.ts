export default {
  title: '花費',
}
