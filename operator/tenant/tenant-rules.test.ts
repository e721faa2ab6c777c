import { expect } from 'chai';
import { completeSpec } from '../../test/support/kube/tenant-world.ts';
import type { TenantDatasetsAllowedNamespaces } from '../api/tenant.ts';
import { bytesAsQuantity, durationMs, quantityBytes } from '../api/values.ts';
import { allowsNamespace } from '../dataset/steps/resolve-tenant.ts';

describe('namespaces from which a tenant accepts Datasets', () => {
  const allows = (allowedNamespaces: TenantDatasetsAllowedNamespaces, name: string, labels = {}) =>
    allowsNamespace(
      { metadata: { name: 'acme', namespace: 'memory' }, spec: completeSpec({ datasets: { allowedNamespaces } }) },
      { name, labels },
    );

  it('allows its own namespace, all, or those that a selector matches', () => {
    expect(allows({ from: 'Same' }, 'memory')).to.equal(true);
    expect(allows({ from: 'Same' }, 'other')).to.equal(false);
    expect(allows({ from: 'All' }, 'other')).to.equal(true);
    expect(allows({ from: 'Selector', selector: {} }, 'other')).to.equal(true);
    expect(allows({ from: 'Selector' }, 'other')).to.equal(false);
  });

  it('matches labels and expressions as Kubernetes does', () => {
    const selects = (selector: NonNullable<TenantDatasetsAllowedNamespaces['selector']>, labels = {}) =>
      allows({ from: 'Selector', selector }, 'other', labels);
    expect(selects({ matchLabels: { a: '1', b: '2' } }, { a: '1', b: '2', c: '3' })).to.equal(true);
    expect(selects({ matchLabels: { a: '1', b: '2' } }, { a: '1' })).to.equal(false);
    const one = (operator: 'In' | 'NotIn' | 'Exists' | 'DoesNotExist', values?: string[]) => ({
      matchExpressions: [{ key: 'a', operator, ...(values === undefined ? {} : { values }) }],
    });
    expect(selects(one('In', ['1', '2']), { a: '2' })).to.equal(true);
    expect(selects(one('In', ['1', '2']), {})).to.equal(false);
    expect(selects(one('NotIn', ['1']), { a: '2' })).to.equal(true);
    expect(selects(one('NotIn', ['1']), {})).to.equal(true);
    expect(selects(one('NotIn', ['1']), { a: '1' })).to.equal(false);
    expect(selects(one('Exists'), { a: '' })).to.equal(true);
    expect(selects(one('Exists'), {})).to.equal(false);
    expect(selects(one('DoesNotExist'), {})).to.equal(true);
    expect(selects({ matchLabels: { b: '1' }, ...one('Exists') }, { a: '1' })).to.equal(false);
  });
});

describe('durations and quantities', () => {
  it('parses durations and quantities of the schema', () => {
    expect(['2160h', '1h30m', '90s', '0s'].map(durationMs)).to.deep.equal([7_776_000_000, 5_400_000, 90_000, 0]);
    expect(['4096', '1.5Gi', '500M', '2k', '0.5'].map(quantityBytes)).to.deep.equal([
      4096, 1_610_612_736, 5e8, 2000, 0,
    ]);
  });

  it('formats bytes to a tenth of the largest unit', () => {
    expect([0, 1023, 1024, 1_610_612_736, 3 * 2 ** 40].map(bytesAsQuantity)).to.deep.equal([
      '0',
      '1023',
      '1Ki',
      '1.5Gi',
      '3Ti',
    ]);
  });
});
