import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SERVICE_PATHS } from '../services/common/domain/service-paths.ts';
import { writeGenerated } from '../services/common/kernel/generated-files.ts';
import type { Setting } from '../services/common/platform/config/settings/setting.ts';
import { SETTINGS } from '../services/common/platform/config/settings.ts';
import { NATS_USERS, natsPermissions } from '../services/common/platform/messaging/nats-permissions.ts';
import { replaceValues } from './values-reference.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const CHART = join(ROOT, 'charts/engram');
const CRDS = 'files/crds';

/** Generated files by their path from the chart: each is made from the one source of its content. */
export function generatedFiles(): ReadonlyMap<string, string> {
  const crds = readdirSync(join(ROOT, 'crds')).filter((file) => file.endsWith('.yaml'));
  const read = (file: string) => readFileSync(join(CHART, file), 'utf8');
  return new Map([
    ...crds.map((file) => [`${CRDS}/${file}`, readFileSync(join(ROOT, 'crds', file), 'utf8')] as const),
    ['files/service-paths.json', json(SERVICE_PATHS)],
    ['files/settings.json', json(settingNames())],
    ['files/nats-permissions.json', json(Object.fromEntries(NATS_USERS.map((user) => [user, natsPermissions(user)])))],
    ['README.md', replaceValues(read('README.md'), read('values.yaml'))],
  ]);
}

/** Names of settings by how a chart's user may set them. */
function settingNames(): Readonly<Record<string, readonly string[]>> {
  const settings = Object.values<Setting>(SETTINGS);
  const namesOf = (belongs: (setting: Setting) => boolean) =>
    [...new Set(settings.filter(belongs).flatMap(({ names }) => names))].toSorted();
  const isPlain = ({ secret }: Setting) => secret !== true;
  return {
    secret: namesOf(({ secret }) => secret === true),
    stores: namesOf((each) => isPlain(each) && each.section === 'Cluster'),
    operator: namesOf((each) => isPlain(each) && each.section === 'Operator'),
    plain: namesOf((each) => isPlain(each) && each.section !== 'Cluster' && each.section !== 'Operator'),
  };
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}

/** Copies of CRDs that no longer exist. */
function leftOver(wanted: ReadonlyMap<string, string>): readonly string[] {
  const folder = join(CHART, CRDS);
  const present = existsSync(folder) ? readdirSync(folder).map((file) => `${CRDS}/${basename(file)}`) : [];
  return present.filter((file) => !wanted.has(file));
}

/** `npm run generate` writes these files; `--check` exits 1 when one is stale. */
function main(mode: string | undefined): number {
  const wanted = generatedFiles();
  const files = [...wanted, ...leftOver(wanted).map((file) => [file, null] as const)];
  return writeGenerated(new Map(files.map(([file, text]) => [`charts/engram/${file}`, text])), mode);
}

if (import.meta.main) process.exitCode = main(process.argv[2]);
