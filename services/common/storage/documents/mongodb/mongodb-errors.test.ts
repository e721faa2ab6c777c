import { expect } from 'chai';
import { MongoExpiredSessionError, MongoServerClosedError, MongoServerError } from 'mongodb';
import { mongodbError } from './mongodb-errors.ts';

describe('errors of MongoDB', () => {
  it('that pass by themselves say that the server cannot answer just now', () => {
    const codes = [43, 91, 189, 237, 10107, 11600, 11601, 11602, 13435, 13436];
    const passing = [
      ...codes.map((code) => new MongoServerError({ message: 'not now', code })),
      new MongoServerClosedError('closed'),
      new MongoExpiredSessionError(),
    ];
    for (const error of passing) {
      expect(mongodbError(error, 'host:1'), error.name).to.include({
        wireName: 'ServiceUnavailableError',
        retryable: true,
      });
    }
  });

  it('that are unexpected stay as they are', () => {
    for (const error of [new MongoServerError({ message: 'bad field', code: 2 }), new TypeError('ours')]) {
      expect(mongodbError(error, 'host:1')).to.equal(error);
    }
  });
});
