/** Switches, and what says that there is no value, or where it comes from. */
const NOTHING =
  /^(?:|true|false|yes|no|on|off|null|nil|none|undefined|~|""|''|\[\s*\]|\{\s*\}|inherit|enabled|disabled|required|optional|read|write)$/i;

/**
 * What stands for a value that is kept elsewhere. Each is asked for as a whole, so that a secret beside a reference, or
 * as its default, is none of these. A default that was masked already (`${TOKEN:-***}`) is.
 */
const REFERENCES: readonly RegExp[] = [
  // Shells and Compose, Spring, GitHub; `$ecret1` is a value.
  /^\$(?:[A-Z_][A-Z0-9_]*|[A-Za-z_]+)$/,
  /^\$\{[\w.]{1,100}(?:(?::-|:=|[-=:])(?:\*\*\*)?|:?\?[^}]*)?\}$/,
  /^\$\{\{[^'"{}]*\}\}$/,
  /^\$\([^()]*\)$/,
  // Ansible, Helm and other templates.
  /^\*{0,2}\s?\{\{[\w .|()[\]-]*\}\}$/,
  /^\{\{-? ?(?:lookup|query|env)\b[^{}]*\}\}$/,
  // Rails, Windows, Python.
  /^<%=? ?ENV(?:\.fetch)?[[(]["']\w+["'][\])] ?%>$/,
  /^%[A-Z_][A-Z0-9_]*%$/,
  /^%\(\w+\)s$/,
  /^(?:process\.env|import\.meta\.env|secrets?|var)\.[\w.]+$/,
  /^(?:os\.environ|os\.getenv|getenv|env)[.[(][\w.()[\]'", ]*$/,
  // "Put your key here", and what was masked by others.
  /^@?<[A-Za-z][A-Za-z _.-]*>$/,
  /^\*{3,}$/,
  // Where it is: a file, a vault, another part of a YAML file.
  /^(?:~|\.{1,2})\/[\w./-]+$/,
  /^\/(?:run|etc|var|home|usr|opt|srv|mnt|tmp|secrets|vault)\/[\w./-]+$/,
  /^[\w./-]*\/[\w.-]+\.(?:json|pem|key|txt|crt|p12|jks|ya?ml)$/,
  /^op:\/\/[\w ./-]+$/,
  /^arn:aws[\w-]*:(?:secretsmanager|ssm):[\w:/.+=@-]+$/,
  /^!(?:Ref|secret|ImportValue|reference) [\w.-]+$/,
];

const SCHEME = /^(?:basic|bearer|token|digest) /i;

/** Whether a value under the name of a secret is none: nothing, a switch, or a reference to where it is kept. */
export function isNoSecret(value: string): boolean {
  if (NOTHING.test(value)) return true;
  const scheme = SCHEME.exec(value)?.[0].length ?? 0;
  const asked = value.slice(scheme);
  return REFERENCES.some((reference) => reference.test(asked));
}

/**
 * The same with its name: tests pass too, so under `pass` a small number or a sentence is about them
 * (`pass: 12`, `pass: all tests are green`).
 */
export function isNoSecretOf(name: string, value: string): boolean {
  if (isNoSecret(value)) return true;
  return /^pass$/i.test(name) && (/^\d{1,3}$/.test(value) || value.split(' ').length > 2);
}
