import { existsSync } from 'node:fs';
import { copyFile, glob, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from './programs.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
/** `../shared/cluster/cluster` */
export const clusterProgram = fileURLToPath(new URL('../../../shared/cluster/cluster', import.meta.url));

const MINUTES = 60_000;

/** Parts of an image's name as the chart takes them. */
export interface Image {
  readonly registry: string;
  readonly repository: string;
  readonly tag: string;
}

/**
 * The image of this tree, in the cluster's node: built from the Dockerfile, unless `ENGRAM_TEST_IMAGE` names one that is there
 * (`localhost/engram/engram:dev`).
 */
export async function imageInCluster(): Promise<Image> {
  const given = givenImage('ENGRAM_TEST_IMAGE');
  if (given !== null) return given;
  const image = await buildInCluster('engram/engram:test', ROOT);
  // For the other suites of this run.
  process.env['ENGRAM_TEST_IMAGE'] = 'localhost/engram/engram:test';
  return image;
}

/** An image that is in the node already. */
export function givenImage(variable: string): Image | null {
  const name = process.env[variable];
  return name === undefined ? null : partsOf(name);
}

/** Builds a folder's Dockerfile, or another one for it, and brings the image into the cluster's node. */
export async function buildInCluster(name: string, folder: string, dockerfile?: string): Promise<Image> {
  const base = (await run(clusterProgram, ['node-image'], { timeoutMs: 5 * MINUTES })).trim();
  const npmrc = `${homedir()}/.npmrc`;
  const secret = existsSync(npmrc) ? ['--secret', `id=npmrc,src=${npmrc}`] : [];
  const file = dockerfile === undefined ? [] : ['--file', dockerfile];
  const words = ['bud', '--isolation', 'chroot', ...secret, ...file, '--build-arg', `NODE_IMAGE=${base}`, '--tag'];
  await run('buildah', [...words, name, folder], { timeoutMs: 8 * MINUTES });
  await run(clusterProgram, ['load', name], { timeoutMs: 5 * MINUTES });
  return partsOf(`localhost/${name}`);
}

/**
 * An image of the NATS server that ../shared/backends runs, for the chart's own NATS: no registry is there for the official
 * one. Null where that server was not built.
 */
export async function natsImageInCluster(): Promise<Image | null> {
  const [program] = await Array.fromAsync(glob(join(backendsHome(), 'bin', 'nats-server-*')));
  if (program === undefined) return null;
  const folder = await mkdtemp(join(tmpdir(), 'engram-nats-image-'));
  try {
    await copyFile(program, join(folder, 'nats-server'));
    const lines = ['ARG NODE_IMAGE', 'FROM $NODE_IMAGE', 'COPY nats-server /usr/local/bin/nats-server', ''];
    await writeFile(join(folder, 'Dockerfile'), lines.join('\n'));
    return await buildInCluster('engram/nats:test', folder);
  } finally {
    await rm(folder, { recursive: true });
  }
}

/** Where ../shared/backends keeps its programs. */
export function backendsHome(): string {
  const cache = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  return process.env['ENGRAM_BACKENDS_HOME'] ?? join(cache, 'engram-backends');
}

/** Lets pods reach ports of this machine's loopback at `host.cluster.internal`. */
export async function expose(ports: readonly number[]): Promise<void> {
  await run(clusterProgram, ['expose', ...ports.map(String)]);
}

function partsOf(name: string): Image {
  const {
    registry = '',
    repository = '',
    tag = '',
  } = /^(?<registry>[^/]+)\/(?<repository>[^:]+):(?<tag>.+)$/.exec(name)?.groups ?? {};
  if (repository === '') throw new Error(`${name} is no <registry>/<name>:<tag>`);
  return { registry, repository, tag };
}
