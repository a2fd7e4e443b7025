// The grammar of the text form, as DESCRIBE grammar shows it. A test compares its words with the parser's tables.

/** `{x}` means zero or more, `[x]` optional. */
export const GRAMMAR = String.raw`(* CAL 1: the text form. Words match in any case; blanks, line breaks and comments part tokens. *)

query          = [ "CAL" , "/" , "1" ] , { let_binding } , statement , [ ";" ] ;
let_binding    = "LET" , parameter , "=" , recall , [ [ "|" ] , extractor ] , ";" ;
extractor      = "SUBJECTS" | "OBJECTS" | "HASHES" ;
statement      = recall | set_op | assemble | exists | history | explain | describe
               | batch | coalesce | define_template | add | supersede | revert ;

(* RECALL: clauses in any order, each once; stages in the order of their effect *)
recall         = "RECALL" , [ "MY" ] , [ type_plural ] , { recall_clause } ;
recall_clause  = in_clause | about | like | since | between | thread | where | with
               | [ "|" ] , stage | recent | "CONTRADICTIONS" | as_clause ;
in_clause      = "IN" , ( string | "SCOPE" , string ) ;
about          = "ABOUT" , string ;
like           = "LIKE" , string ;
since          = "SINCE" , string ;
between        = "BETWEEN" , value , "AND" , value ;
thread         = "THREAD" , ( string | "FROM" , ( hash | parameter ) ) ;
recent         = "RECENT" , integer ;
as_clause      = ( "AS" | "FORMAT" ) , format_value ;

where          = "WHERE" , condition , { "AND" , condition } ;
condition      = field , comparator , value
               | field , "BETWEEN" , value , "AND" , value
               | field , "IN" , "(" , ( value , { "," , value } | recall , [ "|" ] , extractor ) , ")"
               | field , ( "INCLUDE" | "EXCLUDE" ) , array
               | "relation" , "IS" , category ;
comparator     = "=" | "!=" | ">=" | "<=" | ">" | "<" ;
category       = "PREFERENCE" | "KNOWLEDGE" | "PERMISSION" | "INTERACTION" | "AGENCY" | "LIFECYCLE"
               | "OBSERVATION" ;
field          = identifier | domain_prefix , ":" , identifier ;
domain_prefix  = "hc" | "legal" | "fin" | "rob" | "sci" | "con" | "int" ;
value          = string | number | "true" | "false" | parameter | array | hash ;
array          = "[" , [ value , { "," , value } ] , "]" ;

with           = "WITH" , option , { "," , option } ;
option         = "superseded" | "score_breakdown" | "explanation" | "provenance" | "contradiction_detection"
               | "summarize" | "iso_timestamps"
               | "progressive_disclosure" , [ "(" , ( "summary" | "headlines" | "standard" | "full" ) , ")" ]
               | "diversity" , "(" , ( "mmr" , [ "," , "lambda" , "=" , number ]
                                     | "threshold" , "," , number ) , ")"
               | "consistency" , "(" , ( "eventual" | "bounded" , "(" , number , ")" | "linearizable" ) , ")"
               | "dedup" , "(" , field , ")"
               | "locale" , "(" , string , ")"
               | "cache" , "(" , "ttl" , "=" , integer , ")"
               | "x_" , identifier , [ "(" , value , { "," , value } , ")" ] ;

stage          = "SELECT" , field , { "," , field }
               | "ORDER" , "BY" , field , [ "ASC" | "DESC" ]
               | "LIMIT" , integer
               | "OFFSET" , ( integer | parameter )
               | "COUNT" | "FIRST" | "SUBJECTS" | "OBJECTS" | "HASHES"
               | "GROUP" , "BY" , field
               | "PROJECT" , project , { "," , project } ;
project        = ( "content" | "attr" ) , "(" , field , { "," , field } , ")" ;

(* Sets: one operator in a chain, up to five operands *)
set_op         = operand , set_word , operand , { set_word , operand } , { [ "|" ] , stage } ;
operand        = "(" , ( recall | set_op ) , ")" ;
set_word       = "UNION" | "INTERSECT" | "EXCEPT" ;

(* ASSEMBLE: clauses in this order *)
assemble       = "ASSEMBLE" , [ identifier ] , [ "FOR" , string ] , "FROM" , source , { "," , source } ,
                 [ "BUDGET" , integer , ( "tokens" | "grains" ) ] ,
                 [ "PRIORITY" , label , { ">" , label } ] ,
                 [ "FORMAT" , format_value ] ,
                 [ "STREAM" , [ "{" , stream_option , { "," , stream_option } , "}" ] ] ,
                 [ with ] ;
source         = [ label , ":" ] , ( "(" , recall , ")" | parameter | "(" , parameter , ")" ) ;
stream_option  = "progress" | "budget" | "chunks" | "all" | "chunk_size" , "=" , integer ;
label          = identifier ;

exists         = "EXISTS" , ( hash | parameter ) ;
history        = "HISTORY" , ( hash | parameter ) , [ "DIFF" , ( hash | parameter ) ]
               | "HISTORY" , [ in_clause ] , "WHERE" , "subject" , "=" , value , "AND" , "relation" , "=" , value ,
                 [ "AS" , "OF" , string ] ;
explain        = "EXPLAIN" , ( recall | assemble | set_op | batch | coalesce | add | supersede | revert ) ;
describe       = "DESCRIBE" , ( "grain_types" | "fields" , [ type_singular ] | "capabilities" | "server"
               | "templates" | "grammar" | "primer" ) ;
batch          = "BATCH" , "{" , label , ":" , entry , { "," , label , ":" , entry } , "}" ;
entry          = recall | exists | history | describe | coalesce ;
coalesce       = "COALESCE" , "(" , recall , "," , recall , { "," , recall } , ")" ;

format_value   = format | "[" , format , [ "AS" , identifier ] , { "," , format , [ "AS" , identifier ] } , "]" ;
format         = "sml" | "markdown" | "text" | "json" | "yaml" | "triples" | "toon"
               | "structured" | "readable" | "compact" | "data"
               | "TEMPLATE" , ( identifier | string | "{" , section , { section } , "}" ) ;
define_template = "DEFINE" , "TEMPLATE" , identifier , [ "EXTENDS" , identifier ] ,
                 ( section , { section } | "AS" , string ) ;
section        = ( "HEADER" | "ELEMENT" | "ELEMENT_SUMMARY" | "ELEMENT_OMIT" | "SOURCE_BREAK" | "FOOTER" ) ,
                 "{" , raw , "}" ;

(* Tier 1: adds grains, changes none *)
add            = "ADD" , type_singular , set , { set } , reason ;
supersede      = "SUPERSEDE" , ( hash | parameter ) , set , { set } , reason ;
revert         = "REVERT" , ( hash | parameter ) , reason ;
set            = "SET" , field , "=" , value ;
reason         = ( "REASON" | "BECAUSE" ) , string ;

type_plural    = "beliefs" | "events" | "states" | "workflows" | "actions" | "observations" | "goals"
               | "reasonings" | "consensuses" | "consents" ;
type_singular  = "belief" | "event" | "state" | "workflow" | "action" | "observation" | "goal"
               | "reasoning" | "consensus" | "consent" ;

(* Extensions of this server: each causes the warning CAL-W008, and a strict server refuses it *)
extended_where = "WHERE" , alternatives ;
alternatives   = all , { "OR" , all } ;
all            = one , { "AND" , one } ;
one            = "NOT" , one | "(" , alternatives , ")" | condition | extended_in ;
extended_in    = field , [ "NOT" ] , "IN" , ( "(" , ( value , { "," , value } | recall , [ "|" ] , extractor ) , ")"
               | parameter ) ;
extended_order = "ORDER" , "BY" , field , [ "ASC" | "DESC" ] , "," , field , [ "ASC" | "DESC" ] ;
extended_source = [ label , ":" ] , "(" , set_op , ")" ;
(* BUDGET without a unit counts tokens; the clauses behind the sources of ASSEMBLE stand in any order; COUNT and LIMIT may
   stand behind SUBJECTS, OBJECTS and HASHES; < <= > >= compare times; created_at is time *)

(* Tokens *)
identifier     = letter , { letter | digit | "_" } ;
parameter      = "$" , identifier ;
string         = '"' , { character | '\"' | '\\' } , '"' ;
number         = [ "-" ] , digit , { digit } , [ "." , digit , { digit } ] ;
integer        = digit , { digit } ;
hash           = "sha256:" , 8 to 64 hexadecimal digits ;
raw            = text up to the matching brace: {{ and }} in pairs, single braces nested ;
comment        = "--" , characters to the end of the line ;
`;
