import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type AuthHttp, type Person, startAuthHttp } from '../../test/support/auth-http.ts';
import { runCommand } from '../../test/support/run-command.ts';
import { createAuditLog } from '../auth/repositories/audit-log.ts';
import { recordHash } from '../common/domain/audit-record.ts';
import type { TenantId } from '../common/kernel/brand.ts';

describe('engram audit', () => {
  let http: AuthHttp;
  let owner: Person;
  let tenant: TenantId;
  let folder: string;
  let file: string;
  let lines: string[];

  before(async () => {
    http = await startAuthHttp();
    ({ tenant, ...owner } = await http.addTenant());
    const log = createAuditLog(http.auth.store, http.auth.clock);
    for (let index = 1; index <= 5; index += 1) {
      // A line separator that JSON leaves as it is.
      await log.record({ tenant, action: 'grant.given', actor: null, subject: `s\u2028${index}` });
    }
    folder = await mkdtemp(join(tmpdir(), 'engram-audit-'));
    file = join(folder, 'log.ndjson');
    expect((await run('export', '-o', file)).code).to.equal(0);
    lines = (await readFile(file, 'utf8')).trimEnd().split('\n');
  });
  after(async () => {
    await rm(folder, { recursive: true });
    await http[Symbol.asyncDispose]();
  });

  async function run(...args: string[]): Promise<{ code: number; out: string; err: string }> {
    return runAt(http.app.url, ...args);
  }
  async function runAt(url: string, ...args: string[]): Promise<{ code: number; out: string; err: string }> {
    return runCommand(['audit', ...args], { environment: { ENGRAM_URL: url, ENGRAM_API_KEY: owner.key } });
  }
  async function verify(changed: readonly string[], ...args: string[]) {
    const forged = join(folder, 'forged.ndjson');
    await writeFile(forged, `${changed.join('\n')}\n`);
    return run('verify', '--file', forged, ...args);
  }
  const record = (index: number) => JSON.parse(lines[index] ?? '') as Parameters<typeof recordHash>[0];
  const rehashed = (changed: Parameters<typeof recordHash>[0]): string =>
    JSON.stringify({ ...changed, hash: recordHash(changed) });

  it('lists what was recorded', async () => {
    const { code, out } = await run('list', '--action', 'grant.given', '--limit', '2');
    expect(code).to.equal(0);
    expect(out)
      .to.match(/^RECORD +AT +ACTION/)
      .and.contain('grant.given');
    const { out: exports } = await run('--action', 'export.made');
    expect(exports).to.contain(`${owner.principal.email} ${owner.principal.id}`);
    const { out: text } = await run('--subject', 's\u20283', '--json');
    expect((JSON.parse(text) as { number: number }[]).map(({ number }) => number)).to.deep.equal([3]);
  });

  it('finds the log on the server and an export of it unbroken', async () => {
    const fromServer = await run('verify', '--tenant', tenant);
    expect(fromServer).to.include({ code: 0, err: '' });
    expect(fromServer.out).to.match(/^7 records of .+, unbroken; signed 2026/);
    const fromFile = await run('verify', '--file', file, '--json');
    expect(JSON.parse(fromFile.out)).to.deep.include({ ok: true, tenant, records: 6, signed: true });
  });

  it('names a record that was changed', async () => {
    const changed = lines.with(2, (lines[2] ?? '').replace('grant.given', 'grant.taken'));
    expect(await verify(changed)).to.deep.include({
      code: 1,
      err: 'engram: The log is not what was recorded: record 3 was changed.\n',
    });
  });

  it('names a record that was changed together with its hash', async () => {
    const changed = lines.with(2, rehashed({ ...record(2), subject: 'somebody else' }));
    expect((await verify(changed)).err).to.contain('record 4 does not follow record 3');
  });

  it('names what is missing in the middle, at the end, and with the signed end', async () => {
    expect((await verify(lines.toSpliced(1, 2))).err).to.contain('records 2 to 3 are missing');
    expect((await verify(lines.toSpliced(4, 2))).err).to.contain('records 5 to 6 are missing at the end');
    expect((await verify(lines.slice(0, 4))).err).to.contain('cut off behind record 4');
    expect((await verify([])).err).to.contain('cut off behind record 0');
  });

  it('names what was put in between, moved or doubled', async () => {
    const inserted = rehashed({ ...record(2), subject: 'forged' });
    expect((await verify(lines.toSpliced(3, 0, inserted))).err).to.contain('record 3 stands again');
    const renumbered = rehashed({ ...record(2), number: 4, previous: record(3).previous });
    expect((await verify(lines.with(3, renumbered))).err).to.contain('record 5 does not follow record 4');
    const [second = '', third = ''] = lines.slice(1, 3);
    expect((await verify(lines.with(1, third).with(2, second))).err).to.contain('record 2 is missing');
    expect((await verify([...lines, lines[5] ?? ''])).err).to.contain('behind the signed end');
  });

  it('names a field that the hash is not over', async () => {
    const padded = lines.with(1, JSON.stringify({ ...record(1), note: 'x' }));
    expect((await verify(padded)).err).to.contain('where record 2 should be');
  });

  it('refuses an end that the server did not sign', async () => {
    const { head } = JSON.parse(lines.at(-1) ?? '') as { head: Record<string, unknown> };
    const cut = record(4) as unknown as { number: number; hash: string };
    const forged = JSON.stringify({ head: { ...head, number: cut.number, hash: cut.hash } });
    const shortened = [...lines.slice(0, 5), forged];
    expect((await verify(shortened)).err).to.contain('signature of the end');
    const other = await startAuthHttp({ secrets: { jwt: 'the secret of another server' } });
    const { code, err } = await runAt(other.app.url, 'verify', '--file', file);
    await other[Symbol.asyncDispose]();
    expect([code, err]).to.deep.equal([
      1,
      'engram: The log is not what was recorded: the signature of the end is not by a key of the server.\n',
    ]);
  });

  it('holds an expected head against a log that was written anew', async () => {
    const { hash } = JSON.parse(lines[3] ?? '') as { hash: string };
    expect((await run('verify', '--expect-head', hash)).code).to.equal(0);
    const { code, err } = await run('verify', '--expect-head', 'ab'.repeat(32));
    expect(code).to.equal(1);
    expect(err).to.contain('no record has the hash abab');
  });

  it('needs no server for a file with saved keys or an expected head', async () => {
    const keys = join(folder, 'keys.json');
    await writeFile(keys, await (await http.request(null, 'GET', '/api/v1/audit/keys')).text());
    const nowhere = 'http://127.0.0.1:9';
    expect(await runAt(nowhere, 'verify', '--file', file, '--keys', keys)).to.include({ code: 0, err: '' });
    const { hash } = JSON.parse(lines[5] ?? '') as { hash: string };
    const unsigned = await runAt(nowhere, 'verify', '--file', file, '--expect-head', hash);
    expect(unsigned.code).to.equal(0);
    expect(unsigned.out).to.contain('signature not checked');
    expect((await runAt(nowhere, 'verify', '--file', file)).code).to.equal(3);
  });

  it('ends with 2 for a wrong command line and with 1 where it may not read', async () => {
    for (const args of [['nonsense'], ['verify', '--file', '/no/such/file'], ['verify', '--expect-head', 'abc']]) {
      expect((await run(...args)).code, args.join(' ')).to.equal(2);
    }
    const { code, err } = await run('verify', '--tenant', 'personal');
    expect([code, err.includes('403')]).to.deep.equal([1, true]);
  });
});
