import { basename, dirname, join } from 'node:path';
import { expect } from 'chai';
import { HOSTILE_IDS } from '../../../../../test/support/dataset-rows.ts';
import type { DatasetId, TenantId } from '../../../kernel/brand.ts';
import { datasetFile, fileSegment } from './sqlite-dataset-indexes.ts';

describe('datasetFile', () => {
  it('keeps plain ids readable', () => {
    const scope = {
      tenant: 'personal' as TenantId,
      dataset: '7f6ab3e0-9c0f-5d1a-8f5e-0d1b2c3d4e5f' as DatasetId,
    };
    expect(datasetFile('/data', scope)).to.equal('/data/personal/7f6ab3e0-9c0f-5d1a-8f5e-0d1b2c3d4e5f.db');
  });

  it('never leaves the directory and gives every id a name of its own, also where case does not count', () => {
    const ids = [...HOSTILE_IDS, 'con', 'a', 'A', '\ud800', '\udfff', '~', '~0041', 'x'.repeat(5001)];
    const paths = ids.map((id) => datasetFile('/data', { tenant: id as TenantId, dataset: id as DatasetId }));
    for (const path of paths) {
      expect(dirname(dirname(path))).to.equal('/data');
      expect(join(path)).to.equal(path);
      expect(basename(path)).to.match(/^[a-z0-9_~-]+\.db$/);
      expect(basename(path).length).to.be.below(200);
    }
    expect(new Set(paths.map((path) => path.toLowerCase())).size).to.equal(ids.length);
    expect(fileSegment('')).to.equal('~');
  });
});
