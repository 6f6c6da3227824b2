import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { contentRoot } from './app.ts';

/** Why upstream's own scripts cannot be run here; nothing when they can. They need Python 3.11 for its TOML parser. */
export function upstreamMissing(): string | undefined {
  const { status } = spawnSync('python3', ['-c', 'import tomllib'], { stdio: 'ignore' });
  return status === 0 ? undefined : 'python3 with tomllib is not on this machine';
}

/** Imports BMAD's scripts and runs many requests in one process. */
const DRIVER = `
import json, sys
from pathlib import Path
sys.dont_write_bytecode = True
sys.path.insert(0, sys.argv[1])
import config_utils, render_skill
def one(request):
    project, skill = Path(request["project"]), request.get("skill")
    try:
        if request["what"] == "config":
            return {"ok": config_utils.load_central_config(project)}
        if request["what"] == "customization":
            return {"ok": config_utils.load_customization(project, Path(skill))}
        entry = render_skill.render(project, Path(skill))
        files = {p.relative_to(entry.parent).as_posix(): p.read_text(encoding="utf-8") for p in entry.parent.rglob("*.md")}
        return {"ok": {"root": str(entry.parent), "files": files}}
    except (config_utils.ConfigError, render_skill.RenderError, ValueError) as error:
        return {"halt": str(error)}
print(json.dumps([one(request) for request in json.load(sys.stdin)]))
`;

export interface UpstreamRequest {
  what: 'config' | 'customization' | 'render';
  project: string;
  skill?: string;
}

export type UpstreamReply = { ok: Record<string, unknown> } | { halt: string };

export function askUpstream(requests: readonly UpstreamRequest[]): UpstreamReply[] {
  const output = execFileSync('python3', ['-c', DRIVER, join(contentRoot, 'scripts')], {
    input: JSON.stringify(requests),
    maxBuffer: 1e9,
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: '1' },
  });
  return JSON.parse(output.toString('utf8')) as UpstreamReply[];
}
