/** A position in a text that moves forward. Patterns are sticky or global. */
export class TextCursor {
  readonly text: string;
  at = 0;

  constructor(text: string) {
    this.text = text;
  }

  /** What the sticky pattern finds right here; moves behind it. */
  take(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.at;
    const match = pattern.exec(this.text);
    this.at += match?.[0].length ?? 0;
    return match;
  }

  /** Whether the sticky pattern fits at this place. */
  sees(pattern: RegExp, at = this.at): boolean {
    pattern.lastIndex = at;
    return pattern.test(this.text);
  }

  /** Where the global pattern fits next; the end of the text when it does not. */
  find(pattern: RegExp, from: number): number {
    pattern.lastIndex = from;
    return pattern.exec(this.text)?.index ?? this.text.length;
  }
}
