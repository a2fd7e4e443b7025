// Models that `granary model pull` gets: where they are, what they are, and the digests of their files. Revisions
// are fixed, so that a name always means the same vectors.

export interface CatalogueFile {
  /** In the folder of the model. */
  readonly name: string;
  /** In the repository. */
  readonly path: string;
  readonly bytes: number;
  readonly sha256: string;
}

export interface CatalogueModel {
  readonly name: string;
  /** Vectors of texts, or scores of pairs. */
  readonly role: 'embedding' | 'rerank';
  readonly about: string;
  readonly languages: string;
  readonly licence: string;
  /** Length of its vectors; undefined for a reranker. */
  readonly dimensions: number | undefined;
  /** On the hub: `owner/name` and a revision. */
  readonly repository: string;
  readonly revision: string;
  readonly files: readonly CatalogueFile[];
  /** Members of granary-model.json: the hub's configuration names no prefixes. */
  readonly settings: {
    readonly pooling: 'mean' | 'cls' | 'last';
    readonly max_tokens: number;
    readonly query_prefix?: string;
    readonly passage_prefix?: string;
  };
}

export const CATALOGUE: readonly CatalogueModel[] = [
  {
    name: 'all-minilm-l6-v2',
    role: 'embedding',
    about: 'small and quick',
    languages: 'English',
    licence: 'Apache-2.0',
    dimensions: 384,
    repository: 'Xenova/all-MiniLM-L6-v2',
    revision: '751bff37182d3f1213fa05d7196b954e230abad9',
    files: [
      {
        name: 'model.onnx',
        path: 'onnx/model.onnx',
        bytes: 90_387_606,
        sha256: '759c3cd2b7fe7e93933ad23c4c9181b7396442a2ed746ec7c1d46192c469c46e',
      },
      {
        name: 'tokenizer.json',
        path: 'tokenizer.json',
        bytes: 711_661,
        sha256: 'da0e79933b9ed51798a3ae27893d3c5fa4a201126cef75586296df9b4d2c62a0',
      },
    ],
    settings: { pooling: 'mean', max_tokens: 256 },
  },
  {
    name: 'bge-small-en-v1.5',
    role: 'embedding',
    about: 'better at questions, twice the time',
    languages: 'English',
    licence: 'MIT',
    dimensions: 384,
    repository: 'BAAI/bge-small-en-v1.5',
    revision: '5c38ec7c405ec4b44b94cc5a9bb96e735b38267a',
    files: [
      {
        name: 'model.onnx',
        path: 'onnx/model.onnx',
        bytes: 133_093_490,
        sha256: '828e1496d7fabb79cfa4dcd84fa38625c0d3d21da474a00f08db0f559940cf35',
      },
      {
        name: 'tokenizer.json',
        path: 'tokenizer.json',
        bytes: 711_396,
        sha256: 'd241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66',
      },
    ],
    settings: {
      pooling: 'cls',
      max_tokens: 512,
      query_prefix: 'Represent this sentence for searching relevant passages: ',
    },
  },
  {
    name: 'multilingual-e5-small',
    role: 'embedding',
    about: 'for memories in other languages, or in several',
    languages: 'about 100',
    licence: 'MIT',
    dimensions: 384,
    repository: 'intfloat/multilingual-e5-small',
    revision: 'fd1525a9fd15316a2d503bf26ab031a61d056e98',
    files: [
      {
        name: 'model.onnx',
        path: 'onnx/model.onnx',
        bytes: 470_268_510,
        sha256: 'ca456c06b3a9505ddfd9131408916dd79290368331e7d76bb621f1cba6bc8665',
      },
      {
        name: 'tokenizer.json',
        path: 'onnx/tokenizer.json',
        bytes: 17_082_730,
        sha256: '0b44a9d7b51c3c62626640cda0e2c2f70fdacdc25bbbd68038369d14ebdf4c39',
      },
    ],
    settings: { pooling: 'mean', max_tokens: 512, query_prefix: 'query: ', passage_prefix: 'passage: ' },
  },
  {
    name: 'ms-marco-minilm-l6',
    role: 'rerank',
    about: 'orders the hits of a recall',
    languages: 'English',
    licence: 'Apache-2.0',
    dimensions: undefined,
    repository: 'Xenova/ms-marco-MiniLM-L-6-v2',
    revision: 'a09144355adeed5f58c8ed011d209bf8ee5a1fec',
    files: [
      {
        name: 'model.onnx',
        path: 'onnx/model_quantized.onnx',
        bytes: 23_143_499,
        sha256: 'e9d8ebf845c413e981c175bfe49a3bfa9b3dcce2a3ba54875ee5df5a58639fbe',
      },
      {
        name: 'tokenizer.json',
        path: 'tokenizer.json',
        bytes: 711_396,
        sha256: 'd241a60d5e8f04cc1b2b3e9ef7a4921b27bf526d9f6050ab90f9267a1f9e5c66',
      },
    ],
    settings: { pooling: 'mean', max_tokens: 512 },
  },
];

export function bytesOf({ files }: Pick<CatalogueModel, 'files'>): number {
  return files.reduce((sum, { bytes }) => sum + bytes, 0);
}
