import { render } from 'preact';
import { enter } from './live.ts';
import { listenToAddress } from './router.ts';
import { Shell } from './shell.tsx';
import { applyTheme } from './theme.ts';

const place = document.getElementById('app');
if (place !== null) {
  // What stands there is for browsers that do not get this far.
  place.replaceChildren();
  applyTheme();
  listenToAddress();
  void enter();
  render(<Shell />, place);
}
