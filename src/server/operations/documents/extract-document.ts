import { defineOperation } from '../define.ts';
import { missing } from '../grains/fields.ts';
import { NO_MEMBERS } from '../http-face.ts';
import { COUNT, TEXT } from '../json-schema.ts';
import type { Members } from '../names.ts';
import { described, Type } from '../type.ts';

const ANSWER: Members = {
  type: 'object',
  required: ['file_name', 'mime_type', 'characters', 'text'],
  properties: {
    file_name: described(TEXT, 'Name of the file as it was sent.'),
    mime_type: described(TEXT, 'Media type that the content was found to have.'),
    pages: described(COUNT, 'Number of pages, slides or sheets, where the format has them.'),
    characters: described(COUNT, 'Number of characters of the text.'),
    text: described(TEXT, 'The whole text.'),
  },
};

export const extractDocument = defineOperation({
  name: 'extract_document',
  summary: 'Read the text of a document, without storing anything.',
  description:
    'The body is a multipart form with one part named file, of up to 50 MiB: PDF, DOCX, PPTX, XLSX, HTML, Markdown, CSV, JSON, e-mail or plain text.',
  example: {},
  needs: 'read',
  on: 'memory',
  reach: 'nothing',
  mutates: false,
  slow: true,
  input: Type.Object({
    bytes: Type.Unsafe<Uint8Array>({ description: 'The document.' }),
    fileName: Type.String({ description: 'Name of the file, whose extension tells the kind of a text.' }),
  }),
  output: Type.Object({
    fileName: Type.String({ description: 'Name of the file as it was sent.' }),
    mimeType: Type.String({ description: 'Media type that the content was found to have.' }),
    pages: Type.Optional(
      Type.Integer({ description: 'Number of pages, slides or sheets, where the format has them.' }),
    ),
    characters: Type.Integer({ description: 'Number of characters of the text.' }),
    text: Type.Unsafe<Uint8Array>({ type: 'string', description: 'The whole text, as JSON.' }),
  }),
  errors: ['IMP-E001', 'IMP-E004', 'LIM-E003'],
  http: [
    {
      verb: 'POST',
      path: 'M/extract-document',
      body: 'file',
      bodySchema: NO_MEMBERS,
      read: ({ file }) => {
        if (file === undefined) throw missing('file');
        return { bytes: file.bytes, fileName: file.name };
      },
      answers: { 'application/json': ANSWER },
      reply: ({ text, fileName, mimeType, ...more }) => {
        const head = JSON.stringify({ file_name: fileName, mime_type: mimeType, ...more }).slice(0, -1);
        return {
          kind: 'bytes',
          status: 200,
          headers: { 'content-type': 'application/json' },
          body: Buffer.concat([Buffer.from(`${head},"text":`), text, Buffer.from('}')]),
        };
      },
    },
  ],
  async run({ bytes, fileName }, context) {
    const { mimeType, pages, characters, json } = await context.services.documents.text(bytes, fileName);
    return { fileName, mimeType, pages, characters, text: json };
  },
});
