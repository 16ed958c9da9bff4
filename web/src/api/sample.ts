/** What the bundled sample said when `scripts/record.mjs` asked it. */
import answers from './recordings/answer.json'
import articleList from './recordings/articles.json'
import healthz from './recordings/health.json'
import found from './recordings/search.json'
import silent from './recordings/silence.json'
import detail from './recordings/source.json'
import list from './recordings/sources.json'
import type { ArticleResponse, AskEvent, Health, Me, SearchResponse, SourceDetail, SourceSummary } from './types'

export const me: Me = { principal: null, name: null, role: 'admin', keys_required: false }
export const health = healthz as Health
export const sources = list as SourceSummary[]
export const source = detail as SourceDetail
export const articles = articleList as ArticleResponse[]
export const search = found as SearchResponse
/** An extract that answers. */
export const answer = answers as unknown as AskEvent[]
/** A question that the rules do not mention. */
export const silence = silent as unknown as AskEvent[]
