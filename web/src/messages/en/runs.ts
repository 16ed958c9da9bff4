export default {
  title: 'Runs',
  run: 'Run',
}
