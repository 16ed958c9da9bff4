import type { ArtifactRef } from '@/api/types'

const endings: Record<string, string> = {
  'application/json': 'json',
  'application/pdf': 'pdf',
  'audio/mpeg': 'mp3',
  'audio/wav': 'wav',
  'image/gif': 'gif',
  'image/jpeg': 'jpg',
  'image/png': 'png',
  'image/webp': 'webp',
  'text/plain': 'txt',
}

const kindOf = (mime: string) => mime.split(';')[0]?.trim().toLowerCase() ?? ''

/** Pictures that a browser decodes without running anything in them. */
export const isPicture = (mime: string) => ['image/gif', 'image/jpeg', 'image/png', 'image/webp'].includes(kindOf(mime))

export const isReadable = (mime: string) => ['text/plain', 'application/json'].includes(kindOf(mime))

/** A name to save it under. What the tool says it is does not choose the ending unless the service tells it, too. */
export function fileName({ id, mime }: Pick<ArtifactRef, 'id' | 'mime'>): string {
  return `${id}.${endings[kindOf(mime)] ?? 'bin'}`
}
