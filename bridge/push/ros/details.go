package ros

// Details are a type's definition as rosapi's message_details has it.
type Details struct {
	Type        string   `json:"type"`
	FieldNames  []string `json:"fieldnames"`
	FieldTypes  []string `json:"fieldtypes"`
	FieldArrays []int    `json:"fieldarraylen"`
	Examples    []string `json:"examples"`
	ConstNames  []string `json:"constnames"`
	ConstValues []string `json:"constvalues"`
}

// Details returns the type's definition and those that it needs, itself first.
func (t *Type) Details() []Details {
	var all []Details
	timed := false
	for _, one := range t.nested(nil) {
		all = append(all, one.details())
		for _, f := range one.Fields {
			if (f.Type == "time" || f.Type == "duration") && !timed {
				timed = true
				all = append(all, Details{
					Type: "time", FieldNames: []string{"secs", "nsecs"}, FieldTypes: []string{"int32", "int32"}, FieldArrays: []int{Scalar, Scalar},
					Examples: []string{"0", "0"}, ConstNames: []string{}, ConstValues: []string{},
				})
			}
		}
	}
	return all
}

func (t *Type) details() Details {
	d := Details{Type: t.Name, FieldNames: []string{}, FieldTypes: []string{}, FieldArrays: []int{}, Examples: []string{}, ConstNames: []string{}, ConstValues: []string{}}
	for i := range t.Fields {
		f := &t.Fields[i]
		d.FieldNames = append(d.FieldNames, f.Name)
		d.FieldTypes = append(d.FieldTypes, f.Type)
		d.FieldArrays = append(d.FieldArrays, f.Size)
		d.Examples = append(d.Examples, f.example())
	}
	for _, c := range t.Constants {
		d.ConstNames = append(d.ConstNames, c.Name)
		d.ConstValues = append(d.ConstValues, c.Value)
	}
	return d
}

// example is a value as rosapi shows it: Python's words for what is zero.
func (f *Field) example() string {
	switch {
	case f.Size != Scalar:
		return "[]"
	case f.Type == "bool":
		return "False"
	case f.Type == "string":
		return ""
	case f.Type == "float32" || f.Type == "float64":
		return "0.0"
	case f.Type == "time" || f.Type == "duration" || !primitive(f.Type):
		return "{}"
	}
	return "0"
}

// JSONSchema returns a JSON schema of the type's messages.
func (t *Type) JSONSchema() string { return string(t.schema(nil)) }

func (t *Type) schema(b []byte) []byte {
	b = append(b, `{"type":"object","properties":{`...)
	for i := range t.Fields {
		f := &t.Fields[i]
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(b, '"'), f.Name...)
		b = append(b, `":`...)
		switch {
		case f.Size == Scalar:
			b = f.schema(b)
		case f.Type == "uint8" || f.Type == "char":
			b = append(b, `{"type":"string","contentEncoding":"base64"}`...)
		default:
			b = append(f.schema(append(b, `{"type":"array","items":`...)), '}')
		}
	}
	return append(b, "}}"...)
}

// schema appends that of one value.
func (f *Field) schema(b []byte) []byte {
	switch {
	case f.Type == "bool":
		return append(b, `{"type":"boolean"}`...)
	case f.Type == "string":
		return append(b, `{"type":"string"}`...)
	case f.Type == "float32" || f.Type == "float64":
		return append(b, `{"type":"number"}`...)
	case f.Type == "time" || f.Type == "duration":
		return append(b, `{"type":"object","properties":{"secs":{"type":"integer"},"nsecs":{"type":"integer"}}}`...)
	case primitive(f.Type):
		return append(b, `{"type":"integer"}`...)
	}
	return types[f.Type].schema(b)
}
