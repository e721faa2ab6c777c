import { expect } from 'chai';
import fc from 'fast-check';
import { repeats } from '../../test/support/extent.ts';
import { createAuditHeadSigner } from '../auth/credentials/audit-head-signer.ts';
import { exportedHead, exportedRecord } from '../auth/routes/audit.ts';
import { type AuditRecord, NO_RECORD, recordHash } from '../common/domain/audit-record.ts';
import { type AuditVerdict, checkAudit } from './audit-check.ts';

const signer = createAuditHeadSigner('a secret of some length');
const keys = signer.publicKeys;

function chainOf(subjects: readonly string[]): readonly AuditRecord[] {
  const chain: AuditRecord[] = [];
  for (const subject of subjects) {
    const record = {
      tenant: 't',
      number: chain.length + 1,
      at: '2026-01-02T03:04:05.678Z',
      action: 'a.b',
      actor: null,
      subject,
      details: '{}',
      previous: chain.at(-1)?.hash ?? NO_RECORD,
    };
    chain.push({ ...record, hash: recordHash(record) });
  }
  return chain;
}

function linesOf(chain: readonly AuditRecord[]): readonly string[] {
  const { number = 0, hash = NO_RECORD } = chain.at(-1) ?? {};
  const head = signer.sign({ tenant: 't', number, hash, signedAt: '2026-01-02T03:04:05.678Z' });
  return [...chain.map(exportedRecord), exportedHead(head)].map((line) => line.trimEnd());
}

async function check(lines: readonly string[]): Promise<AuditVerdict> {
  async function* each() {
    yield* lines;
  }
  return checkAudit(each(), { keys, head: null, tenant: null });
}

const subjects = fc.array(fc.string({ unit: 'binary', maxLength: 8 }), { minLength: 2, maxLength: 8 });
const place = fc.nat({ max: 1000 });

describe('check of an audit export', () => {
  it('finds nothing wrong with what the server wrote, whatever its texts are', async () => {
    await fc.assert(
      fc.asyncProperty(subjects, async (texts) => {
        expect((await check(linesOf(chainOf(texts)))).ok).to.equal(true);
      }),
      { numRuns: 200 },
    );
  });

  it('finds every line that is gone, doubled, moved or from elsewhere', async () => {
    const forgeries = fc.constantFrom('remove', 'double', 'swap', 'replace', 'cut');
    await fc.assert(
      fc.asyncProperty(subjects, forgeries, place, place, async (texts, forgery, one, other) => {
        const lines = linesOf(chainOf(texts));
        const [first, second] = [one % lines.length, other % lines.length];
        const at = (index: number): string => lines[index] ?? '';
        const foreign = linesOf(chainOf(texts.map((text) => `${text}!`)));
        const forged = {
          remove: () => lines.toSpliced(first, 1),
          double: () => lines.toSpliced(second, 0, at(first)),
          swap: () => lines.with(first, at(second)).with(second, at(first)),
          replace: () => lines.with(first, foreign[first] ?? ''),
          cut: () => lines.slice(0, first),
        }[forgery]();
        fc.pre(forged.join('\n') !== lines.join('\n'));
        expect((await check(forged)).ok).to.equal(false);
      }),
      { numRuns: repeats(1000, 250) },
    );
  });

  it('finds every value that was changed, with its hash made anew or not', async () => {
    const names = fc.constantFrom('tenant', 'at', 'action', 'actor', 'subject', 'details', 'previous', 'number');
    await fc.assert(
      fc.asyncProperty(subjects, names, place, fc.boolean(), async (texts, name, index, isRehashed) => {
        const chain = chainOf(texts);
        const at = index % chain.length;
        const record = chain[at];
        if (record === undefined) throw new Error('no record');
        const value = name === 'number' ? record.number + 1 : `${String(record[name])}x`;
        const changed = { ...record, [name]: value } as AuditRecord;
        const forged = isRehashed ? { ...changed, hash: recordHash(changed) } : changed;
        expect((await check(linesOf(chain).with(at, exportedRecord(forged)))).ok).to.equal(false);
      }),
      { numRuns: repeats(1000, 250) },
    );
  });
});
