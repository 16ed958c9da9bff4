export default {
  title: '辦事',
}
