import { onScopeDispose } from 'vue'

/** Tells this browser's other tabs that something changed in a conversation, and hears it from them. No content is told. */
export function useOtherTabs(changed: (conversation: string) => void) {
  const channel = typeof BroadcastChannel === 'undefined' ? null : new BroadcastChannel('bylaw.act')
  if (channel) {
    channel.onmessage = ({ data }: MessageEvent<unknown>) => {
      if (typeof data === 'string') changed(data)
    }
    onScopeDispose(() => channel.close())
  }
  return { tell: (conversation: string) => channel?.postMessage(conversation) }
}
