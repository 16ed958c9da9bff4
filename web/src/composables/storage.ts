/** Browser storage that may be forbidden or full; then things are forgotten sooner, and nothing breaks. */
export interface Keep {
  read(name: string): string | null
  write(name: string, value: string): void
  remove(name: string): void
}

export function keepIn(storage: () => Storage): Keep {
  const attempt = <T>(act: () => T, otherwise: T): T => {
    try {
      return act()
    } catch {
      return otherwise
    }
  }
  return {
    read: (name) => attempt(() => storage().getItem(`bylaw.${name}`), null),
    write: (name, value) => attempt(() => storage().setItem(`bylaw.${name}`, value), undefined),
    remove: (name) => attempt(() => storage().removeItem(`bylaw.${name}`), undefined),
  }
}

/** For this tab. */
export const tabStorage = keepIn(() => sessionStorage)

/** For this browser. */
export const browserStorage = keepIn(() => localStorage)
