/** What a browser remembers for a person; one that remembers nothing does no harm. */
export function kept(name: string): string | undefined {
  try {
    return localStorage.getItem(`bmad.${name}`) ?? undefined;
  } catch {
    return undefined;
  }
}

export function keep(name: string, value: string): void {
  try {
    localStorage.setItem(`bmad.${name}`, value);
  } catch {
    // It holds until the page is closed.
  }
}
