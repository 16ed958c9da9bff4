export default {
  title: '沒有這一頁',
  home: '回到提問',
}
