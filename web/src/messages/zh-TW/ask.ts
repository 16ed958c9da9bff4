export default {
  title: '規章怎麼說？',
}
