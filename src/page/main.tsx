import { render } from 'preact';
import { comeBack, enter } from './live.ts';
import { passing } from './message.ts';
import { listenToAddress } from './router.ts';
import { Shell } from './shell.tsx';
import { applyTheme } from './kept.ts';

const place = document.getElementById('app');
if (place !== null) {
  // What stands there is for browsers that do not get this far.
  place.replaceChildren();
  applyTheme();
  listenToAddress();
  void enter();
  addEventListener('focus', comeBack);
  setInterval(() => (passing.value = Date.now()), 30_000);
  render(<Shell />, place);
}
