import { expect } from 'chai';
import { clientMessage, engramError } from './errors.ts';

describe('message of an error for clients', () => {
  const shown = (message: string) => clientMessage(engramError('CorruptStoreError', message));

  it('names files of the server without their folders', () => {
    expect(shown('The file /var/lib/engram/datasets/personal/a-b.db is damaged')).to.equal(
      'The file a-b.db is damaged',
    );
    expect(shown('The disk that holds /data/engram/blobs is full')).to.equal('The disk that holds blobs is full');
    expect(shown("'C:\\Users\\ada\\engram\\control.db' is in use")).to.equal("'control.db' is in use");
  });

  it('leaves everything else as it is', () => {
    for (const text of ['see https://example.com/a/b/c', 'a/b/c of 3/4', 'and/or', 'the model openai/gpt-5', 'a / b']) {
      expect(shown(text)).to.equal(text);
    }
    const request = engramError('InvalidRequestError', 'POST /api/v1/add takes no such path');
    expect(clientMessage(request)).to.equal(request.message);
  });
});
