export default {
  title: '執行紀錄',
  run: '執行紀錄',
}
