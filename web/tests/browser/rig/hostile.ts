// Text that must stay text.

const markup =
  '<img src="https://evil.example/pixel.png" onerror="window.__harmed=1"><script>window.__harmed=1</script>'
const link = '[按這裡](javascript:window.__harmed=1) <a href="javascript:window.__harmed=1">here</a>'
const image = '![x](https://evil.example/pixel.png)'
/** A right-to-left override, which shows what follows backwards unless it is shut in. */
const backwards = 'invoice\u202Egnp.exe'
const longWord = 'Ｗ'.repeat(200) + 'w'.repeat(10_000)

export const hostile = {
  markup,
  link,
  image,
  backwards,
  longWord,
  all: [markup, link, image, backwards, longWord].join('\n'),
}

/** A document whose names and text are all of it. */
export const hostileDocument = `# ${markup}

## 第一章 ${link}

### 第 1 條（${backwards}）

惡意條文。員工得請侏羅紀假三日。${markup}${link}${image}

### 第 2 條（${'x'.repeat(300)}）

長字：${longWord}。請侏羅紀假者應於三日前提出。
`
