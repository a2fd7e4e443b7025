import { defineOperation } from '../define.ts';
import { missing } from '../grains/fields.ts';
import { NO_MEMBERS } from '../http-face.ts';
import { Type } from '../type.ts';

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
    text: Type.String({ description: 'The whole text.' }),
    pages: Type.Optional(
      Type.Integer({ description: 'Number of pages, slides or sheets, where the format has them.' }),
    ),
    characters: Type.Integer({ description: 'Number of characters of the text.' }),
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
    },
  ],
  async run({ bytes, fileName }, context) {
    const { mimeType, pages, text } = await context.services.documents.text(bytes, fileName);
    return { fileName, mimeType, text, pages, characters: text.length };
  },
});
