import { expect } from 'chai';
import { createAuditHeadSigner } from '../auth/credentials/audit-head-signer.ts';
import type { ErasureReceipt } from '../common/domain/erasure-receipt.ts';
import { checkReceipt, type ReceiptVerdict } from './commands/receipt.ts';

const RECEIPT: ErasureReceipt = {
  kind: 'dataset',
  tenant: 't',
  dataset: 'd',
  resource: 'cr',
  residue: 0,
  kept: ['audit log'],
  begunAt: '2026-01-02T03:04:05.678Z',
  endedAt: '2026-01-02T03:05:05.678Z',
  removed: { items: 3, blobs: 6 },
};

describe('check of a receipt', () => {
  const signer = createAuditHeadSigner('a secret for tests only');
  const signed = signer.signReceipt(RECEIPT);
  const check = (value: unknown) => checkReceipt(JSON.stringify(value), signer.publicKeys);
  const fault = (verdict: ReceiptVerdict) => (verdict.ok ? '' : verdict.text);

  it('accepts what the server signed, in whatever order its counts stand', () => {
    expect(check(signed)).to.deep.equal({ ok: true, receipt: signed });
    expect(check({ ...signed, removed: { blobs: 6, items: 3 } }).ok).to.equal(true);
  });

  it('refuses every change', () => {
    const others = { kind: 'tenant', tenant: 'x', dataset: null, resource: 'x', begunAt: 'x', endedAt: 'x' };
    for (const [name, value] of Object.entries({ ...others, removed: { items: 4, blobs: 6 }, kept: [] })) {
      expect(fault(check({ ...signed, [name]: value })), name).to.equal('its signature is not right');
    }
  });

  it('refuses another key, and what is no receipt', () => {
    const stranger = createAuditHeadSigner('another secret');
    expect(fault(check(stranger.signReceipt(RECEIPT)))).to.include('does not have');
    expect(fault(check({ ...signed, keyId: 'x' }))).to.include('does not have');
    for (const value of [null, [], 'text', {}, { ...signed, residue: 1 }, { ...signed, more: true }]) {
      expect(fault(check(value))).to.equal('it is no receipt of an erasure');
    }
    expect(fault(checkReceipt('not json', signer.publicKeys))).to.equal('it is no receipt of an erasure');
  });
});
