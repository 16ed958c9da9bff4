/** The figures of a comparison, in the order in which one is asked for them. Paths are the service's own. */

export interface Field {
  path: string
  required?: boolean
  /** What is written: a decimal unless said otherwise. */
  kind?: 'text' | 'date'
  /** What the service assumes without it; it says so in its reply. */
  assumed?: string
}

export interface Section {
  name: 'common' | 'api' | 'api_profile' | 'self_hosted' | 'self_hosted_profile'
  fields: Field[]
  /** Those that most people leave out. */
  more: Field[]
}

const profile = (option: 'api' | 'self_hosted', required: boolean): Field[] => [
  { path: `${option}.profile.prompt_tokens`, required },
  { path: `${option}.profile.completion_tokens`, required },
  { path: `${option}.profile.cached_tokens`, assumed: required ? '0' : undefined },
  { path: `${option}.profile.calls_per_task`, assumed: required ? '1' : undefined },
  { path: `${option}.profile.retry_rate`, assumed: required ? '0' : undefined },
]

export const sections: Section[] = [
  {
    name: 'common',
    fields: [
      { path: 'tasks_per_day', required: true },
      { path: 'currency', kind: 'text', assumed: 'USD' },
      { path: 'price_date', kind: 'date' },
      { path: 'growth_per_month', assumed: '0' },
    ],
    more: [{ path: 'discount_rate_per_year', assumed: '0' }, { path: 'failure_cost' }],
  },
  {
    name: 'api',
    fields: [
      { path: 'api.name', kind: 'text', assumed: 'API' },
      { path: 'api.input_price', required: true },
      { path: 'api.cached_input_price' },
      { path: 'api.output_price', required: true },
    ],
    more: [
      { path: 'api.batch_discount', assumed: '0' },
      { path: 'api.extras_per_task', assumed: '0' },
      { path: 'api.fixed_per_month', assumed: '0' },
      { path: 'api.success_rate' },
    ],
  },
  { name: 'api_profile', fields: profile('api', true), more: [] },
  {
    name: 'self_hosted',
    fields: [
      { path: 'self_hosted.name', kind: 'text', assumed: 'self-hosted' },
      { path: 'self_hosted.gpu_price_per_hour', required: true },
      { path: 'self_hosted.gpus_per_replica', assumed: '1' },
      { path: 'self_hosted.prefill_tokens_per_second', required: true },
      { path: 'self_hosted.decode_tokens_per_second', required: true },
      { path: 'self_hosted.target_utilisation', assumed: '0.6' },
      { path: 'self_hosted.peak_factor', assumed: '4' },
      { path: 'self_hosted.minimum_replicas', assumed: '1' },
      { path: 'self_hosted.labour_per_month', assumed: '0' },
    ],
    more: [
      { path: 'self_hosted.hours_per_day', assumed: '24' },
      { path: 'self_hosted.days_per_month', assumed: '30.4375' },
      { path: 'self_hosted.retraining_cost', assumed: '0' },
      { path: 'self_hosted.retrainings_per_month' },
      { path: 'self_hosted.storage_and_network_per_month', assumed: '0' },
      { path: 'self_hosted.variable_cost_per_task', assumed: '0' },
      { path: 'self_hosted.purchase_price_per_replica', assumed: '0' },
      { path: 'self_hosted.amortisation_months', assumed: '36' },
      { path: 'self_hosted.upfront_cost', assumed: '0' },
      { path: 'self_hosted.success_rate' },
    ],
  },
  { name: 'self_hosted_profile', fields: profile('self_hosted', false), more: [] },
]

export const allFields = sections.flatMap(({ fields, more }) => [...fields, ...more])

/** Examples that say what to write; their prices are nobody's offer. */
export const examples: Record<'rented' | 'owned', Record<string, string>> = {
  rented: {
    currency: 'USD',
    tasks_per_day: '20000',
    growth_per_month: '0.1',
    'api.input_price': '1',
    'api.cached_input_price': '0.1',
    'api.output_price': '4',
    'api.profile.prompt_tokens': '2500',
    'api.profile.completion_tokens': '500',
    'api.profile.retry_rate': '0.02',
    'self_hosted.gpu_price_per_hour': '2',
    'self_hosted.prefill_tokens_per_second': '20000',
    'self_hosted.decode_tokens_per_second': '1500',
    'self_hosted.labour_per_month': '3000',
    'self_hosted.retraining_cost': '600',
    'self_hosted.retrainings_per_month': '0.5',
  },
  owned: {
    currency: 'TWD',
    tasks_per_day: '30000',
    growth_per_month: '0.05',
    discount_rate_per_year: '0.03',
    'api.input_price': '32',
    'api.cached_input_price': '3.2',
    'api.output_price': '128',
    'api.profile.prompt_tokens': '2500',
    'api.profile.cached_tokens': '1000',
    'api.profile.completion_tokens': '500',
    'self_hosted.gpus_per_replica': '2',
    'self_hosted.gpu_price_per_hour': '2.5',
    'self_hosted.purchase_price_per_replica': '900000',
    'self_hosted.amortisation_months': '48',
    'self_hosted.prefill_tokens_per_second': '30000',
    'self_hosted.decode_tokens_per_second': '2400',
    'self_hosted.labour_per_month': '30000',
    'self_hosted.storage_and_network_per_month': '2000',
    'self_hosted.upfront_cost': '50000',
    'self_hosted.profile.cached_tokens': '1500',
  },
}
