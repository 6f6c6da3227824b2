import type { ComponentProps, VNode } from 'preact';

interface Pressed extends Omit<ComponentProps<'button'>, 'onClick'> {
  says: string;
  onPress: () => unknown;
}

/** A button that says one thing and does it. */
export const Press = ({ says, onPress, ...how }: Pressed): VNode => (
  <button type="button" {...how} onClick={() => void onPress()}>
    {says}
  </button>
);
