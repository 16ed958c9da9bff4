import { flushPromises } from '@vue/test-utils'
import { describe, expect, it } from 'vitest'

import * as sample from '@/api/sample'
import type { HealthReport, Me } from '@/api/types'
import { mountPage } from '@/test/mount'

import AppHeader from './AppHeader.vue'

async function header(me: Partial<Me>, health: Partial<HealthReport> = {}) {
  const { wrapper } = await mountPage(AppHeader, {
    recording: {
      me: async () => ({ ...sample.me, ...me }),
      health: async () => ({ alive: true, ready: true, health: sample.health, reason: null, ...health }),
    },
  })
  return wrapper
}

describe('the header', () => {
  it.each<[string, Partial<Me>, string[]]>([
    ['a reader', { role: 'reader' }, ['Ask', 'Act', 'Rules', 'Runs']],
    ['a reader without agents', { role: 'reader', agents: [] }, ['Ask', 'Rules', 'Runs']],
    ['an editor', { role: 'editor' }, ['Ask', 'Act', 'Rules', 'Documents', 'Runs']],
    ['an admin', { role: 'admin' }, ['Ask', 'Act', 'Rules', 'Documents', 'Runs', 'Ledger']],
  ])('shows %s where they may go', async (_, me, places) => {
    const wrapper = await header(me)
    expect(wrapper.findAll('nav a').map((link) => link.text())).toEqual(places)
  })

  const degraded = { ...sample.health, degraded: [{ part: 'ledger', reason: 'it cannot be written' }] }
  it.each<[string, Partial<HealthReport>, string, string]>([
    ['well', {}, 'Ready', 'Everything works'],
    ['degraded', { health: degraded }, 'Degraded', 'Ledger'],
    ['alive and not ready', { ready: false, reason: 'index: cannot be read' }, 'Not ready', 'index: cannot be read'],
    ['gone', { alive: false, ready: false, health: null }, 'Unreachable', 'does not answer'],
  ])('tells a service that is %s from the others, and names the part', async (_, health, word, sentence) => {
    const wrapper = await header({}, health)
    const lamp = wrapper.get('.tools button')
    expect(lamp.attributes('aria-label')).toBe(`Service: ${word}`)
    await lamp.trigger('click')
    await flushPromises()
    expect(wrapper.get('.panel').text()).toContain(sentence)
  })
})
