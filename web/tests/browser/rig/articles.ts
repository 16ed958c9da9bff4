// What tests know of the documents that ship with the program.

/** A question, the article that answers it, and what it says. */
export const lodging = {
  question: '出差住飯店一晚最多報多少？',
  id: '員工工作規則.md#45',
  title: '第 45 條（住宿費）',
  /** The sentence of the article that answers. */
  quote: '國內出差之住宿費檢據核實報支，職員每晚以新臺幣 2,400 元為上限，經理級以上人員每晚以新臺幣 3,200 元為上限。',
  /** How a model would say it. */
  said: '國內出差每晚以新臺幣 2,400 元為上限 [員工工作規則.md#45]。',
  shown: '國內出差每晚以新臺幣 2,400 元為上限',
}

export const annualLeave = {
  question: 'How many days of annual leave do I get after five years?',
  id: 'employee-handbook.md#8',
  title: 'Article 8 (Annual Leave)',
  quote: 'receive 22 Working Days of paid annual leave',
}

/** Questions by how they end when nobody but the rules answers. */
export const outcomes = {
  not_in_rules: '侏羅紀假有幾天？',
  insufficient: '火星旅遊補助多少？',
  ruled_elsewhere: '輪班辦法的內容是什麼？',
  not_understood: '阿巴拉古',
} as const
