import { inject, type InjectionKey } from 'vue'

import type { Api } from '@/api/client'

export const apiKey: InjectionKey<Api> = Symbol('api')

/** The service, or whatever stands for it. */
export function useApi(): Api {
  const api = inject(apiKey)
  if (!api) throw new Error('no api was provided')
  return api
}
