export default {
  title: 'What do the rules say?',
}
