/** A skill that says where it is from; with a customization it is an agent or a workflow. */
export function skill(path: string, kind?: 'agent' | 'workflow'): Record<string, string> {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return {
    [`${path}/SKILL.md`]: `---\nname: ${name}\ndescription: Does ${name}\n---\n\nText of ${path}\n`,
    ...(kind === undefined ? {} : { [`${path}/customize.toml`]: `[${kind}]\n` }),
  };
}

export const marketplace = (...plugins: object[]): Record<string, string> => ({
  '.claude-plugin/marketplace.json': JSON.stringify({ name: 'acme', plugins }),
});
