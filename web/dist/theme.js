// Before anything is painted, so that a dark page never flashes white. A file of its own: inline scripts are refused.
try {
  const theme = localStorage.getItem('bylaw.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Storage may be forbidden in a frame; the system's preference holds.
}
// A frame in a page of somebody else's has no head, so none is shown before it.
if (/\/embed\/?$/.test(location.pathname)) document.documentElement.dataset.bare = ''
