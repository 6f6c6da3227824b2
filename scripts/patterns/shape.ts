/** The parts of a regular expression, as far as texts can be made from them that lead into it. */
export type Shape =
  | { kind: 'one'; samples: readonly string[] }
  | { kind: 'all'; parts: readonly Shape[] }
  | { kind: 'any'; ways: readonly Shape[] }
  | { kind: 'repeat'; part: Shape; min: number; max: number };

/** Characters that a class or an escape is tried on; those come first that most classes have in common. */
const PALETTE = [
  ...Array.from(' a1-._"A\t*#/<>[]{}():=\\|`\',;!?@~+&%$^\n\r'),
  ...'\u00A0¦\u2028¦É¦é¦’¦→¦—¦📁¦n¦x¦z¦0¦\0'.split('¦'),
];
const MOST_SAMPLES = 4;

const NOTHING: Shape = { kind: 'all', parts: [] };

export function shapeOf(source: string, flags: string): Shape {
  return new ShapeReader(source, flags.replace(/[gy]/g, '')).alternatives();
}

class ShapeReader {
  #at = 0;
  readonly #source: string;
  readonly #flags: string;

  constructor(source: string, flags: string) {
    this.#source = source;
    this.#flags = flags;
  }

  alternatives(): Shape {
    const ways: Shape[] = [this.#sequence()];
    while (this.#takes('|')) ways.push(this.#sequence());
    const [only = NOTHING] = ways;
    return ways.length === 1 ? only : { kind: 'any', ways };
  }

  #sequence(): Shape {
    const parts: Shape[] = [];
    while (this.#at < this.#source.length && !'|)'.includes(this.#source.charAt(this.#at)))
      parts.push(this.#repeated(this.#atom()));
    return { kind: 'all', parts };
  }

  #takes(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false;
    this.#at += text.length;
    return true;
  }

  #match(pattern: RegExp): RegExpExecArray | undefined {
    const found = pattern.exec(this.#source.slice(this.#at)) ?? undefined;
    this.#at += found?.[0].length ?? 0;
    return found;
  }

  #repeated(part: Shape): Shape {
    const found = this.#match(/^(?:[*+?]|\{(\d+)(,?)(\d*)\})\??/);
    if (found === undefined) return part;
    const [whole, least, comma, most] = found;
    if (least !== undefined) {
      const max = most ? Number(most) : comma ? Infinity : Number(least);
      return { kind: 'repeat', part, min: Number(least), max };
    }
    return {
      kind: 'repeat',
      part,
      min: whole.startsWith('+') ? 1 : 0,
      max: whole.startsWith('?') ? 1 : Infinity,
    };
  }

  #atom(): Shape {
    // What looks behind or says what must not come adds nothing to a text that leads into the expression.
    const group = this.#match(/^\((?:\?(?:<?[=!]|:|<[A-Za-z]\w*>))?/)?.[0];
    if (group !== undefined) {
      const inner = this.alternatives();
      this.#takes(')');
      return group.endsWith('!') ? NOTHING : inner;
    }
    if (this.#match(/^(?:[\^$]|\\[bB])/) !== undefined) return NOTHING;
    const back = this.#match(/^\\(?:[1-9]|k<\w+>)/);
    if (back !== undefined) return { kind: 'one', samples: ['"', "'"] };
    const char =
      this.#match(/^\[(?:\\[^]|[^\]\\])*\]/) ??
      this.#match(/^\\(?:[pP]\{[^}]*\}|u\{[\dA-Fa-f]+\}|u[\dA-Fa-f]{4}|x[\dA-Fa-f]{2}|c[A-Z]|[^])/) ??
      this.#match(/^[^]/u);
    return { kind: 'one', samples: this.#samples(char?.[0] ?? '') };
  }

  #samples(char: string): string[] {
    if (!/^[.\\[]/.test(char)) return [char];
    const one = new RegExp(`^${char}$`, this.#flags.replace('m', ''));
    const known = PALETTE.filter((candidate) => one.test(candidate)).slice(0, MOST_SAMPLES);
    if (known.length > 0) return known;
    for (let code = 0; code < 0x30_00; code += 1) {
      const other = String.fromCharCode(code);
      if (one.test(other)) return [other];
    }
    return [];
  }
}
