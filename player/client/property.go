package client

import (
	"context"

	"callboard/player"
	"callboard/player/iface"
)

// Properties of a device's driver. Each has a kind, which must be asked for
// rightly: the real server does not check it and reads or writes elsewhere in
// its memory. A driver that has no such property refuses (*NackError); one
// whose property cannot be written acknowledges and does nothing. Errors are
// those of Request.

// IntProperty reads a property that is an integer.
func (c *Client) IntProperty(ctx context.Context, addr player.Addr, key string) (int32, error) {
	var got iface.IntpropReq
	err := c.Request(ctx, addr, iface.ReqGetIntprop, &iface.IntpropReq{Key: iface.CString(key)}, &got)
	return got.Value, err
}

// SetIntProperty writes it.
func (c *Client) SetIntProperty(ctx context.Context, addr player.Addr, key string, value int32) error {
	return c.Request(ctx, addr, iface.ReqSetIntprop, &iface.IntpropReq{Key: iface.CString(key), Value: value}, nil)
}

// FloatProperty reads a property that is a number.
func (c *Client) FloatProperty(ctx context.Context, addr player.Addr, key string) (float64, error) {
	var got iface.DblpropReq
	err := c.Request(ctx, addr, iface.ReqGetDblprop, &iface.DblpropReq{Key: iface.CString(key)}, &got)
	return got.Value, err
}

// SetFloatProperty writes it.
func (c *Client) SetFloatProperty(ctx context.Context, addr player.Addr, key string, value float64) error {
	return c.Request(ctx, addr, iface.ReqSetDblprop, &iface.DblpropReq{Key: iface.CString(key), Value: value}, nil)
}

// TextProperty reads a property that is a text.
func (c *Client) TextProperty(ctx context.Context, addr player.Addr, key string) (string, error) {
	var got iface.StrpropReq
	err := c.Request(ctx, addr, iface.ReqGetStrprop, &iface.StrpropReq{Key: iface.CString(key)}, &got)
	return iface.GoString(got.Value), err
}

// SetTextProperty writes it.
func (c *Client) SetTextProperty(ctx context.Context, addr player.Addr, key, value string) error {
	return c.Request(ctx, addr, iface.ReqSetStrprop, &iface.StrpropReq{Key: iface.CString(key), Value: iface.CString(value)}, nil)
}

// BoolProperty reads a property that is true or false.
func (c *Client) BoolProperty(ctx context.Context, addr player.Addr, key string) (bool, error) {
	var got iface.BoolpropReq
	err := c.Request(ctx, addr, iface.ReqGetBoolprop, &iface.BoolpropReq{Key: iface.CString(key)}, &got)
	return got.Value != 0, err
}

// SetBoolProperty writes it.
func (c *Client) SetBoolProperty(ctx context.Context, addr player.Addr, key string, value bool) error {
	req := &iface.BoolpropReq{Key: iface.CString(key)}
	if value {
		req.Value = 1
	}
	return c.Request(ctx, addr, iface.ReqSetBoolprop, req, nil)
}
