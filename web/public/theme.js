// Before anything is painted, so that a dark page never flashes white. A file of its own: inline scripts are refused.
try {
  const theme = localStorage.getItem('bylaw.theme')
  if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme
} catch {
  // Storage may be forbidden in a frame; the system's preference holds.
}
