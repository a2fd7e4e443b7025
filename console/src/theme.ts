// Light or dark: as the system has it, unless the reader chose one in this browser.
import { effect, signal } from '@preact/signals';

export type Theme = 'system' | 'light' | 'dark';
const STORED = 'granary-theme';

export const theme = signal<Theme>(storedTheme());

/** Storage may be forbidden. */
function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(STORED);
    return stored === 'light' || stored === 'dark' ? stored : 'system';
  } catch {
    return 'system';
  }
}

effect(() => {
  document.documentElement.dataset['theme'] = theme.value;
  try {
    if (theme.value === 'system') localStorage.removeItem(STORED);
    else localStorage.setItem(STORED, theme.value);
  } catch {
    // The choice holds until the page is left.
  }
});
