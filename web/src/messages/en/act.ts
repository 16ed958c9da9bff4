export default {
  title: 'Get something done',
}
