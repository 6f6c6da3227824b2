import type { VNode } from 'preact';
import { LanguageChoice, Standing, ThemeChoice } from '../navigation.tsx';
import { NoticeChoice } from '../parts/notices.tsx';
import { Heading } from '../parts/shown.tsx';
import { address } from '../router.ts';
import { words } from '../words.ts';

/** What a phone has no room for below. */
export function More(): VNode {
  const { views } = words.value;
  return (
    <>
      <Heading title={views.more} />
      <div class="list more-list">
        {(['proof', 'catalogue', 'health'] as const).map((view) => (
          <a key={view} href={address(view)}>
            {views[view]}
          </a>
        ))}
      </div>
      <div class="list more-list">
        <ThemeChoice />
        <LanguageChoice />
        <NoticeChoice />
      </div>
      <Standing />
    </>
  );
}
