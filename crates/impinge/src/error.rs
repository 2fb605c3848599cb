//! The one error of the library. It comes only from constructors and readers: what was let in is
//! trusted, and kernels cannot fail.

/// Why something was refused; the message names the culprit.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file that could not be opened or read.
    #[error("{path}: {reason}")]
    File {
        /// The file as the caller named it.
        path: String,
        /// What the system or the reader said.
        reason: String,
    },
    /// Text or bytes that break the rules of their format.
    #[error("{format}, {place}: {reason}")]
    Format {
        /// The format, such as `OBJ`.
        format: &'static str,
        /// Line, byte offset or element, such as `line 12`.
        place: String,
        /// What is wrong there.
        reason: String,
    },
    /// A mesh without triangles has no surface to ask about.
    #[error("the mesh has no triangles")]
    NoTriangles,
    /// A coordinate that is NaN, infinite or larger than 1e60.
    #[error("vertex {vertex} has the coordinate {value}; finite numbers up to 1e60 are accepted")]
    Coordinate {
        /// Index of the vertex.
        vertex: usize,
        /// The coordinate.
        value: f64,
    },
    /// A triangle that names a vertex that does not exist.
    #[error("triangle {triangle} names vertex {vertex}, but there are {vertices} vertices")]
    VertexIndex {
        /// Index of the triangle.
        triangle: usize,
        /// The index it names.
        vertex: u64,
        /// How many vertices there are.
        vertices: usize,
    },
    /// More elements than 32-bit indices can name.
    #[error("{count} {what} are more than an index can name ({most})")]
    TooMany {
        /// `vertices` or `triangles`.
        what: &'static str,
        /// How many were given.
        count: usize,
        /// How many are possible.
        most: usize,
    },
    /// A pose that is not a rigid placement.
    #[error("the pose is not rigid: {reason}")]
    Pose {
        /// What is wrong with it.
        reason: String,
    },
    /// An argument outside its documented range.
    #[error("{name}: {reason}")]
    Argument {
        /// The argument.
        name: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// A question that a method does not answer for these kinds of shapes.
    #[error("method {method} does not answer {question} of {} and {}; {}", kinds[0], kinds[1], would(methods))]
    Unanswered {
        /// The method that was named, or `auto`.
        method: &'static str,
        /// The question.
        question: &'static str,
        /// The kinds of a and b.
        kinds: [&'static str; 2],
        /// The methods that answer it.
        methods: Vec<&'static str>,
    },
    /// One of many questions that were asked at once.
    #[error("{what} {index}: {error}")]
    Member {
        /// What was asked about: `pair` or `shape`.
        what: &'static str,
        /// Its index in the list.
        index: usize,
        /// Why it was refused.
        error: Box<Error>,
    },
    /// A question about one shape that is not answered for its kind.
    #[error("{question} of a {kind} is not answered; it is for {known}")]
    Kind {
        /// The question.
        question: &'static str,
        /// The kind of the shape.
        kind: &'static str,
        /// The kinds that are answered.
        known: &'static str,
    },
}

impl Error {
    /// The same about a list of one, which the caller did not ask as a list.
    pub(crate) fn alone(self) -> Error {
        match self {
            Error::Member { error, .. } => *error,
            other => other,
        }
    }
}

fn would(methods: &[&str]) -> String {
    match methods {
        [] => "no method does".to_string(),
        [one] => format!("{one} does"),
        [rest @ .., last] => format!("{} and {last} do", rest.join(", ")),
    }
}
