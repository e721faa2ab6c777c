import { randomUUID } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { freePorts } from '../support/free-ports.ts';
import { until } from '../support/until.ts';
import { withCluster } from './cluster.ts';
import { imageInCluster } from './image.ts';
import { attempt, type Outcome } from './programs.ts';

withCluster('nodes', 'the image in a container engine', () => {
  it("serves by README's line, stops when told to, and finds its data in the volume", async function contains() {
    this.timeout(900_000);
    const { registry, repository, tag } = await imageInCluster();
    const image = `${registry}/${repository}:${tag}`;
    await using engine = await podman();
    if (!(await engine.runs(image))) this.skip();

    const name = `engram-${randomUUID().slice(0, 8)}`;
    const port = await freePorts(1);
    const words = (await readmeLine())
      .map((word) => word.replace(/^127\.0\.0\.1:8000:/, `127.0.0.1:${port}:`).replace(/^engram:/, `${name}:`))
      .with(-1, image)
      .toSpliced(1, 0, '--rm', '--detach', '--name', name);
    const start = async () => {
      await engine.succeeds(words);
      await until('it is healthy', () =>
        fetch(`http://127.0.0.1:${port}/health`).then(
          ({ ok }) => ok,
          () => false,
        ),
      );
    };
    const inside = (...command: string[]) => engine.succeeds(['exec', name, 'engram', ...command]);
    try {
      await start();
      await inside('add', 'Charles Babbage designed the Analytical Engine.', '--dataset', 'tour');
      await inside('cognify', '--dataset', 'tour');
      await engine.succeeds(['stop', '--time', '60', name]);
      await start();
      expect(await inside('ask', 'Who designed the Analytical Engine?', '--dataset', 'tour')).to.match(
        /^Charles Babbage: /,
      );
    } finally {
      await engine.attempt(['rm', '--force', name]);
      await engine.attempt(['volume', 'rm', '--force', name]);
    }
  });
});

/** Words of README's `docker run`, from `run` to the image's name. */
async function readmeLine(): Promise<string[]> {
  const text = await readFile(fileURLToPath(new URL('../../README.md', import.meta.url)), 'utf8');
  const line = /docker (run -p(?:[^\n]|\\\n)+?)(?: +#.*)?\n/.exec(text.replaceAll('\\\n', ' '))?.[1];
  if (line === undefined) throw new Error('README shows no `docker run -p`');
  return line.trim().split(/\s+/);
}

/** podman, which needs no service, told to set no limits of its own: a sandbox may not raise them. */
async function podman() {
  const folder = await mkdtemp(join(tmpdir(), 'engram-podman-'));
  const settings = join(folder, 'containers.conf');
  await writeFile(settings, '[containers]\ndefault_ulimits = []\n');
  const call = (words: readonly string[]): Promise<Outcome> =>
    attempt('podman', words, { env: { CONTAINERS_CONF: settings } });
  return {
    attempt: call,
    /** Whether there is a podman that has this image and may run it here. */
    runs: (image: string): Promise<boolean> =>
      call(['run', '--rm', '--pull', 'never', '--entrypoint', 'node', image, '--version']).then(
        ({ code }) => code === 0,
        () => false,
      ),
    async succeeds(words: readonly string[]): Promise<string> {
      const { code, stdout, stderr } = await call(words);
      if (code !== 0) throw new Error(`podman ${words.join(' ')} failed (${code}): ${stderr}${stdout}`);
      return stdout;
    },
    [Symbol.asyncDispose]: () => rm(folder, { recursive: true }),
  };
}
