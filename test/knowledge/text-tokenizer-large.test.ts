import { tokenizerCases } from './text-fixtures.ts';
import { describeTokenizers } from './text-tokenizer-suite.ts';

describeTokenizers(tokenizerCases.filter((subject) => subject.isLarge === true));
