export default {
  title: '文件',
}
