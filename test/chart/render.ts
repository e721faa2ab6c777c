import { readdirSync } from 'node:fs';
import { parseAllDocuments } from 'yaml';
import { attempt, CHART, type Outcome } from './programs.ts';

/** An object as the chart writes it. Its fields are looked at by path. */
export interface Rendered {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly [field: string]: unknown;
}

/** Values files of `ci/`, by their name: minimal, ha … */
export const CI_VALUES = readdirSync(`${CHART}/ci`)
  .filter((file) => file.endsWith('-values.yaml'))
  .map((file) => file.replace('-values.yaml', ''));

interface RenderOptions {
  readonly release?: string;
  readonly namespace?: string;
  /** A file of `ci/`. */
  readonly ci?: string;
  readonly values?: object;
}

/** Every object of the chart. Throws with what Helm says. */
export async function render(options: RenderOptions = {}): Promise<readonly Rendered[]> {
  const { code, stdout, stderr } = await attemptRender(options);
  if (code !== 0) throw new Error(stderr);
  return parseAllDocuments(stdout)
    .map((document) => document.toJS() as Rendered | null)
    .filter((object) => object !== null);
}

/** Why the chart refuses the values; null when it takes them. */
export async function refusalOf(values: object, ci?: string): Promise<string | null> {
  const { code, stderr } = await attemptRender({ values, ...(ci === undefined ? {} : { ci }) });
  return code === 0 ? null : stderr;
}

function attemptRender({ release = 'rel', namespace = 'memory', ci, values = {} }: RenderOptions): Promise<Outcome> {
  const words = ['template', release, CHART, '--namespace', namespace, '--kube-version', '1.34.0'];
  if (ci !== undefined) words.push('--values', `${CHART}/ci/${ci}-values.yaml`);
  words.push('--values', '-');
  return attempt('helm', words, { input: JSON.stringify(values) });
}

/** The only object of a kind whose name ends so. */
export function find(objects: readonly Rendered[], kind: string, ending = ''): Rendered {
  const found = objects.filter((object) => object.kind === kind && object.metadata.name.endsWith(ending));
  const [only] = found;
  if (only === undefined || found.length > 1)
    throw new Error(`${found.length} objects of kind ${kind} end in ${ending}`);
  return only;
}

/** `spec.template.spec.containers.0.name`; undefined where there is nothing. */
export function at(object: unknown, path: string): unknown {
  return path
    .split('.')
    .reduce<unknown>((value, key) => (value as Record<string, unknown> | undefined | null)?.[key], object);
}

/** Pod specs of an object, whatever its kind. */
export function podSpecOf(object: Rendered): Readonly<Record<string, unknown>> | undefined {
  const path = object.kind === 'Pod' ? 'spec' : 'spec.template.spec';
  const spec = at(object, path) as Readonly<Record<string, unknown>> | undefined;
  return spec !== undefined && 'containers' in spec ? spec : undefined;
}
