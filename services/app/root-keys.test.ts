import { randomBytes } from 'node:crypto';
import { mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { loadConfig } from '../common/platform/config/load-config.ts';
import { createAesGcmSecretBox } from '../common/platform/secrets/aes-gcm-secret-box.ts';
import { ROOT_KEY_FILE, rootKeysOf } from './root-keys.ts';

const PLACE = { collection: 'c', id: '1', field: 'key' };
const keyText = (name: string) => `${name}:${randomBytes(32).toString('base64')}`;
const embedded = { documents: 'embedded' } as const;
const configured = (text: string) => loadConfig({ ENGRAM_ROOT_KEYS: text }).config.rootKeys;

describe('root keys', () => {
  let dataDir: string;
  beforeEach(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'engram-keys-'));
  });
  afterEach(() => rm(dataDir, { recursive: true, force: true }));

  const boxOf = (rootKeys?: string, documents: 'embedded' | 'cluster' = 'embedded') =>
    createAesGcmSecretBox(
      rootKeysOf({
        dataDir,
        rootKeys: rootKeys === undefined ? undefined : configured(rootKeys),
        stores: { documents },
      }),
    );

  it('come from a file for the owner alone, made with the first secret and the same after a restart', async () => {
    const box = boxOf();
    expect(await readdir(dataDir)).to.deep.equal([]);
    const sealed = await box.seal('secret', PLACE);
    expect((await stat(join(dataDir, ROOT_KEY_FILE))).mode & 0o777).to.equal(0o600);
    expect(await boxOf().open(sealed, PLACE)).to.equal('secret');
  });

  it('open what the file sealed after keys are configured, and seal with the first of these', async () => {
    const before = await boxOf().seal('secret', PLACE);
    const rotated = boxOf(keyText('2026'));
    expect(await rotated.open(before, PLACE)).to.equal('secret');
    expect(await rotated.seal('secret', PLACE)).to.match(/^1\.2026\./);
  });

  it('make no file where keys are configured', async () => {
    await boxOf(keyText('a')).seal('secret', PLACE);
    expect(await readdir(dataDir)).to.deep.equal([]);
  });

  it('must be configured in a cluster, once something is to be sealed', async () => {
    const error = await boxOf(undefined, 'cluster')
      .seal('secret', PLACE)
      .catch((reason: unknown) => reason);
    expect(error).to.include({ wireName: 'ServiceUnavailableError' });
    expect(String(error)).to.contain('ENGRAM_ROOT_KEYS');
    expect(await readdir(dataDir)).to.deep.equal([]);
    await boxOf(keyText('a'), 'cluster').seal('secret', PLACE);
  });

  it('are not made anew when the file is damaged', async () => {
    await writeFile(join(dataDir, ROOT_KEY_FILE), 'x'.repeat(60));
    const keys = rootKeysOf({ dataDir, rootKeys: undefined, stores: embedded });
    expect(await keys().catch((reason: unknown) => reason)).to.include({ wireName: 'CorruptStoreError' });
  });
});
