export default {
  title: 'There is no such page',
  home: 'Ask a question instead',
}
